/** Ids of objects, as the reference cloud makes them. */
export function idsIn(text: string): readonly string[] {
  return [...text.matchAll(/\b(?:ra|bot)_[0-9A-Za-z]{27}\b/g)].map(([id]) => id);
}
