/**
 * Troubles and habits under which the operator shows a known defect, by its findings; `--known` leaves them out. The stories
 * of those findings are in regressions/. Whoever mends a finding takes its name out here.
 */
export const known: Readonly<Record<string, readonly string[]>> = {
  // A service that denies a lone object in its own words, alone and in lists, for minutes is believed.
  'empty-account': ['O2'],
  // Two installations that may not see each other's resources cannot know what the other one made in their account.
  'two-operators': ['O9'],
  // What a restored record says was true once: with other troubles besides, somebody else may have it by now.
  'kube-restored': ['M7'],
};
