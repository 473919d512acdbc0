import { fetch, type RequestInit } from 'undici';
import { testRuntime } from './in-memory.ts';

const { dispatcher } = testRuntime;
if (dispatcher === undefined) throw new Error('nothing is in memory in this run');

/** What tests fetch comes from the servers in this process. */
Object.assign(globalThis, { fetch: (url: string, init: RequestInit) => fetch(url, { ...init, dispatcher }) });
