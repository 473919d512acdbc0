import type { ResourceType } from '../types/resource-type.ts';
import { coreV1 } from './core.ts';
import { crdType } from './crd-type.ts';
import { eventTypes } from './events.ts';
import { lease } from './lease.ts';
import { storedTypes } from './stored.ts';

/** Every built-in type. */
export const builtinTypes: readonly ResourceType[] = [...coreV1, crdType, lease, ...eventTypes, ...storedTypes];
