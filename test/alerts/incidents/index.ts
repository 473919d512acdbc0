import type { Incident } from '../incident.ts';
import { agents } from './agents.ts';
import { cloud } from './cloud.ts';
import { kubernetes } from './kubernetes.ts';
import { replicas } from './replicas.ts';
import { resources } from './resources.ts';

export const incidents: readonly Incident[] = [...replicas, ...kubernetes, ...cloud, ...resources, ...agents];
