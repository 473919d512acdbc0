/** As messages say it. */
export const cloudURLForm = 'an http or https URL without user, query and fragment';

export function isCloudURL(value: string): boolean {
  const url = URL.parse(value);
  return (
    url !== null && /^https?:$/.test(url.protocol) && `${url.username}${url.password}${url.search}${url.hash}` === ''
  );
}
