/** An item of a list that is not as the service describes it. It troubles whoever owns it, and nobody else. */
export interface OddItem {
  /** Undefined where that is what is odd. */
  readonly id: string | undefined;
  /** RFC 3339, by the service's clock; undefined where that is what is odd. */
  readonly createdAt: string | undefined;
  /** What is wrong: `description: expected string`. Nothing in it depends on where in the list the item stands. */
  readonly problem: string;
}
