import { z } from 'zod';
import { enabled } from '../fields.ts';
import { defineModule } from './module.ts';

export const compression = defineModule({
  name: 'compression',
  title: 'CompressionModule',
  parent: 'httpsRoute',
  onUpstream: false,
  body: z.strictObject({ enabled }),
  answer: z.strictObject({ enabled }),
  replace: (body) => body,
  render: (stored) => stored,
});
