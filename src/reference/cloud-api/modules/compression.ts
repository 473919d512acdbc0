import { z } from 'zod';
import { enabled } from './enabled.ts';
import { defineModule } from './module.ts';

export const compression = defineModule({
  name: 'compression',
  parent: 'httpsRoute',
  onUpstream: false,
  body: z.strictObject({ enabled }),
  replace: (body) => body,
  render: (stored) => stored,
});
