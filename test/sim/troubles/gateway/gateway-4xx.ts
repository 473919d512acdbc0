import { answeringItself } from './foreign-words.ts';

export const gateway4xx = answeringItself('gateway-4xx', {
  about:
    'a gateway before the cloud refuses calls in words of its own: 400, 401, 403, 407, 413, 421 or 451, though the cloud may have carried them out',
  statuses: [400, 401, 403, 407, 413, 421, 451],
  message: 'the request was blocked',
});
