/** What the agent holds of a message, as bytes: `raw`, `body` as it was sent, or `content` without its coding. */
export async function fetched(id, kind, form) {
  const response = await fetch(`/inspect/requests/${id}/${kind}/${form}`);
  if (!response.ok) throw new Error('the agent holds it no more');
  return new Uint8Array(await response.arrayBuffer());
}
