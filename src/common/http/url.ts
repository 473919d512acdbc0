/** @throws TypeError for a URL that is not usable; its message does not repeat credentials. `name` is what people call it. */
export function parseBaseURL(text: string, name: string): URL {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new TypeError(`the ${name} must start with http:// or https://`);
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new TypeError(`the ${name} of ${url.host} must have no credentials, query or fragment`);
  }
  return url;
}
