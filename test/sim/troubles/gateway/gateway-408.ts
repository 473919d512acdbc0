import { answeringItself } from './foreign-words.ts';

export const gateway408 = answeringItself('gateway-408', {
  about: 'a gateway before the cloud gives up on a call: 408, 499 or 460, though the cloud may have carried it out',
  statuses: [408, 499, 460],
  message: 'the request timed out',
});
