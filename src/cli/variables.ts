const prefix = 'EDGE_OPERATOR_';
/** Further off than this it may be anything. */
const mostTypos = 2;

type Environment = Readonly<Record<string, string | undefined>>;

/** What to say of variables that look like those of the operator and are not: nobody reads them. Values are not repeated. */
export function unknownVariables(env: Environment, known: readonly string[]): readonly string[] {
  return Object.entries(env)
    .filter(([name, value]) => name.startsWith(prefix) && !known.includes(name) && !isOfService(name, value))
    .map(([name]) => {
      const meant = meantBy(name, known);
      return `${name} is no variable of the operator, and is ignored${meant === undefined ? '' : `: did you mean ${meant}?`}`;
    });
}

/** As Kubernetes gives them to every pod for a Service of its namespace whose name begins with `edge-operator`. */
function isOfService(name: string, value: string | undefined): boolean {
  if (/_SERVICE_HOST$|_SERVICE_PORT(_\w+)?$|_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/.test(name)) return true;
  return name.endsWith('_PORT') && /^(tcp|udp|sctp):\/\//.test(value ?? '');
}

/** Undefined where none is so near, or more than one is. */
function meantBy(name: string, known: readonly string[]): string | undefined {
  const typos = known.map((each) => ({ each, count: distance(name.toUpperCase(), each) }));
  const least = Math.min(mostTypos, ...typos.map(({ count }) => count));
  const [nearest, ...others] = typos.filter(({ count }) => count === least);
  return others.length === 0 ? nearest?.each : undefined;
}

/** How many letters are to be added, left out or replaced to come from one to the other (Levenshtein). */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (const letter of from) {
    let [left, corner] = [at(row, 0) + 1, at(row, 0)];
    const next = [left];
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = corner + (to[column - 1] === letter ? 0 : 1);
      corner = at(row, column);
      left = Math.min(replaced, corner + 1, left + 1);
      next.push(left);
    }
    row = next;
  }
  return at(row, to.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
