import { expect, test } from '@jest/globals';
import { settingsHelp } from '../operator/settings.ts';
import { unknownVariables } from './variables.ts';

const known = [...settingsHelp().map(({ variable }) => variable), 'EDGE_OPERATOR_API_KEY'];

test.each([
  'EDGE_OPERATOR_WATCH_NAMESPACE',
  'EDGE_OPERATOR_APIKEY',
  'EDGE_OPERATOR_log_level',
  'EDGE_OPERATOR_SELECTOR',
  'EDGE_OPERATOR_METRICS_PORT',
])('%s is told of, without its value', (name) => {
  const told = `${name} is no variable of the operator, and is ignored: run --help has those that are`;
  expect(unknownVariables({ [name]: 'canary' }, known)).toEqual([told]);
});

test.each(['EDGE_OPERATOR', 'EDGE_OPERATOR_AGENT', 'EDGE_OPERATOR_METRICS'])(
  'what Kubernetes gives every pod for a Service is nothing to tell of: %s',
  (service) => {
    const env = {
      [`${service}_SERVICE_HOST`]: '10.0.0.1',
      [`${service}_SERVICE_PORT`]: '8080',
      [`${service}_SERVICE_PORT_METRICS`]: '8080',
      [`${service}_PORT`]: 'tcp://10.0.0.1:8080',
      [`${service}_PORT_8080_TCP`]: 'tcp://10.0.0.1:8080',
      [`${service}_PORT_8080_TCP_PROTO`]: 'tcp',
      [`${service}_PORT_8080_TCP_PORT`]: '8080',
      [`${service}_PORT_8080_TCP_ADDR`]: '10.0.0.1',
    };
    expect(unknownVariables(env, known)).toEqual([]);
  },
);

test('nor is what is known, or another program’s', () => {
  const env = { ...Object.fromEntries(known.map((name) => [name, 'x'])), PATH: '/bin', EDGE: 'x' };
  expect(unknownVariables(env, known)).toEqual([]);
});
