import { STATUS_CODES } from 'node:http';

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escapeHTML = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? '');

/** Why a visitor gets no answer of a local server. */
export interface Failure {
  readonly statusCode: 400 | 404 | 405 | 502 | 503;
  /** A sentence. */
  readonly what: string;
}

export interface ErrorPage {
  readonly statusMessage: string;
  readonly rawHeaders: string[];
  readonly body: Buffer;
}

/** What the visitor sees of it; plain text unless HTML is accepted. */
export function errorPage(accept: string | undefined, failure: Failure): ErrorPage {
  const { contentType, body } = /\btext\/html\b/i.test(accept ?? '') ? htmlPage(failure) : plainPage(failure);
  const bytes = Buffer.from(body);
  const rawHeaders = ['Content-Type', contentType, 'Content-Length', String(bytes.length)];
  if (failure.statusCode === 503) rawHeaders.push('Retry-After', '1');
  return { statusMessage: STATUS_CODES[failure.statusCode] ?? '', rawHeaders, body: bytes };
}

interface Page {
  readonly contentType: string;
  readonly body: string;
}

export function plainPage(failure: Failure): Page {
  return { contentType: 'text/plain; charset=utf-8', body: `${titleOf(failure)}\n\n${failure.what}\n` };
}

const titleOf = ({ statusCode }: Failure): string => `${statusCode} ${STATUS_CODES[statusCode]}`;

function htmlPage(failure: Failure): Page {
  const title = escapeHTML(titleOf(failure));
  const body = `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>
<style>:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:15vh auto;padding:0 1rem}</style>
<h1>${title}</h1><p>${escapeHTML(failure.what)}</p></html>
`;
  return { contentType: 'text/html; charset=utf-8', body };
}
