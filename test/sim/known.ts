/**
 * Troubles and habits under which the operator shows a known defect, by its findings; `--known` leaves them out. The stories
 * of those findings are in regressions/. Whoever mends a finding takes its name out here.
 */
export const known: Readonly<Record<string, readonly string[]>> = {
  'gateway-404': ['O2'],
  'gateway-408': ['O6'],
  'wrong-address': ['O3'],
  'wrong-key': ['O3', 'M2'],
  'empty-account': ['O2', 'O3'],
  'slow-acts': ['O7'],
  'lagging-lists': ['O7'],
  'clock-jumps': ['O8'],
  'clocks-set-right': ['O8'],
  'cloud-clock': ['O7'],
  'odd-items': ['B10'],
  'endless-pages': ['B11'],
  'kube-restored': ['M7'],
  'external-id-edits': ['O4', 'O12'],
  'older-dormant': ['O5'],
  'annotations-wiped': ['O11'],
  'annotations-copied': ['O4', 'O5'],
  'annotations-forged': ['O1'],
  'absent-imports': ['B7'],
  'account-swaps': ['O3', 'O10'],
  'shared-key': ['O10'],
  'shared-parents': ['O5'],
  'two-operators': ['O9'],
  'two-accounts-two-operators': ['K1'],
  'big-account': ['B2'],
};
