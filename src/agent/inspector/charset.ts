/** The character set that a content type names, as {@link TextDecoder} calls it; undefined when it names none that is known. */
export function charsetOf(contentType: string): string | undefined {
  const [, name] = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(contentType) ?? [];
  if (name === undefined) return undefined;
  try {
    return new TextDecoder(name).encoding;
  } catch {
    return undefined;
  }
}
