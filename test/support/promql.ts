import { parser } from '@prometheus-io/lezer-promql';

type Node = ReturnType<typeof parser.parse>['topNode'];

export interface Matcher {
  readonly label: string;
  readonly op: string;
  readonly value: string;
}

export interface Selector {
  readonly metric: string;
  readonly matchers: readonly Matcher[];
}

export interface Expression {
  readonly selectors: readonly Selector[];
  /** Labels of every `by`, `on` and `group_left`. */
  readonly grouping: readonly string[];
}

/** What a PromQL expression uses. Throws when it is none. */
export function parseExpression(text: string): Expression {
  const { topNode } = parser.parse(text);
  if (all(topNode, '⚠').length > 0) throw new Error(`no PromQL: ${text}`);
  const read = (node: Node) => text.slice(node.from, node.to);
  return {
    selectors: all(topNode, 'VectorSelector').map((selector) => ({
      metric: all(selector, 'Identifier').map(read).join(),
      matchers: all(selector, 'UnquotedLabelMatcher').map((matcher) => ({
        label: all(matcher, 'LabelName').map(read).join(),
        op: all(matcher, 'MatchOp').map(read).join(),
        value: all(matcher, 'StringLiteral').map(read).join().slice(1, -1),
      })),
    })),
    grouping: all(topNode, 'GroupingLabels').flatMap((labels) => all(labels, 'LabelName').map(read)),
  };
}

/** Whether a series whose label has this value is selected; as in Prometheus, patterns match whole values. */
export function matches({ op, value }: Matcher, actual: string): boolean {
  const equal = op.endsWith('~') ? new RegExp(`^(?:${value})$`).test(actual) : value === actual;
  return op.startsWith('!') ? !equal : equal;
}

function all(node: Node, name: string): readonly Node[] {
  const found: Node[] = [];
  node.cursor().iterate((inner) => {
    const is = name === '⚠' ? inner.type.isError : inner.name === name;
    if (is && inner.from >= node.from && inner.to <= node.to) found.push(inner.node);
  });
  return found;
}
