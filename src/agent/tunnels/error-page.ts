const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escapeHTML = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? '');

export interface ErrorPage {
  readonly contentType: string;
  readonly body: Buffer;
}

/** What a visitor of a tunnel sees when there is nothing to forward to; plain text unless HTML is accepted. */
export function errorPage(accept: string | undefined, title: string, what: string): ErrorPage {
  if (!/\btext\/html\b/i.test(accept ?? '')) {
    return { contentType: 'text/plain; charset=utf-8', body: Buffer.from(`${title}\n\n${what}\n`) };
  }
  const html = `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHTML(title)}</title>
<style>:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:15vh auto;padding:0 1rem}</style>
<h1>${escapeHTML(title)}</h1><p>${escapeHTML(what)}</p></html>
`;
  return { contentType: 'text/html; charset=utf-8', body: Buffer.from(html) };
}
