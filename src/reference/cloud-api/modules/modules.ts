import { compression } from './compression.ts';
import { ipRestriction } from './ip-restriction.ts';
import type { Module } from './module.ts';
import { mutualTls } from './mutual-tls.ts';
import { saml } from './saml.ts';
import { tlsTermination } from './tls-termination.ts';
import { trafficPolicy } from './traffic-policy.ts';
import { webhookVerification } from './webhook-verification.ts';

/** Every module of reference section 2. */
export const modules: readonly Module[] = [
  saml,
  ipRestriction,
  webhookVerification,
  compression,
  trafficPolicy,
  mutualTls,
  tlsTermination,
];
