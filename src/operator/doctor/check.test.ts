import { expect, test } from '@jest/globals';
import { ApiError } from '../../common/http/errors.ts';
import { KubeConnectionError, KubeError } from '../kube/errors.ts';
import { look } from './check.ts';

test('a check that fails says why, and stops no other', async () => {
  const broken = { name: 'a', run: () => Promise.reject(new Error('no answer')) };
  const fine = { name: 'b', run: async () => ({ at: 'it', findings: [] }) };
  expect(await look([broken, fine])).toEqual([
    { check: 'a', findings: [], failed: 'no answer' },
    { check: 'b', at: 'it', findings: [] },
  ]);
});

test.each<readonly [string, Error, RegExp | undefined]>([
  ['no API server', new KubeConnectionError('reading', new Error('refused')), /kubectl cluster-info; .*--kubeconfig/],
  ['credentials that are none', new KubeError('reading', { status: 401, message: 'no' }), /kubectl auth whoami/],
  ['rights that are not there', new KubeError('reading', { status: 403, message: 'no' }), /grant/],
  ['no definition', new KubeError('creating', { status: 404, message: 'no' }), /kubectl apply --server-side -f crds/],
  ['no namespace', new KubeError('creating', { status: 404, reason: 'NotFound', message: 'no' }), undefined],
  ['no cloud', new ApiError('away', { reason: 'Unreachable', definite: true }), /--api-url/],
  ['anything else', new Error('what'), undefined],
])('what to do about %s', async (_, error, cure) => {
  const [result] = await look([{ name: 'a', run: () => Promise.reject(error) }]);
  if (cure === undefined) expect(result).not.toHaveProperty('cure');
  else expect(result?.cure).toMatch(cure);
});
