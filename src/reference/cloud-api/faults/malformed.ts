type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const wrongType = (value: unknown): unknown => (typeof value === 'string' ? 4711 : 'not the right type');

/** The JSON text with one field of a wrong type; of a list, in its first item. What is no object stays as it is. */
export function malform(payload: string, field?: string): string {
  const answer: unknown = payload === '' ? undefined : JSON.parse(payload);
  if (!isObject(answer)) return payload;
  const target = (field === undefined || !(field in answer) ? firstItem(answer) : undefined) ?? answer;
  const name = field ?? Object.keys(target)[0];
  if (name !== undefined) target[name] = wrongType(target[name]);
  return JSON.stringify(answer);
}

function firstItem(answer: Json): Json | undefined {
  if (!('next_page_uri' in answer)) return undefined;
  const items = Object.values(answer).find(Array.isArray);
  return items?.find(isObject);
}
