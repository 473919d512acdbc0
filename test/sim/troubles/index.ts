import { cloudClock } from './cloud/cloud-clock.ts';
import { emptyAccount } from './cloud/empty-account.ts';
import { endlessPages } from './cloud/endless-pages.ts';
import { laggingLists } from './cloud/lagging-lists.ts';
import { oddItems } from './cloud/odd-items.ts';
import { revokedKey } from './cloud/revoked-key.ts';
import { gateway4xx } from './gateway/gateway-4xx.ts';
import { gateway5xx } from './gateway/gateway-5xx.ts';
import { gateway404 } from './gateway/gateway-404.ts';
import { gateway408 } from './gateway/gateway-408.ts';
import { gatewayHtml } from './gateway/gateway-html.ts';
import { halfAPage } from './gateway/half-a-page.ts';
import { mixedAnswers } from './gateway/mixed-answers.ts';
import { throttled } from './gateway/throttled.ts';
import type { TroubleKind } from './kind.ts';
import { compacted } from './kubernetes/compacted.ts';
import { kube5xx } from './kubernetes/kube-5xx.ts';
import { kube403 } from './kubernetes/kube-403.ts';
import { kubeConflicts } from './kubernetes/kube-conflicts.ts';
import { kubeLostAnswers } from './kubernetes/kube-lost-answers.ts';
import { kubePrunes } from './kubernetes/kube-prunes.ts';
import { kubeRestored } from './kubernetes/kube-restored.ts';
import { kubeStrips } from './kubernetes/kube-strips.ts';
import { staleLists } from './kubernetes/stale-lists.ts';
import { watchesCut } from './kubernetes/watches-cut.ts';
import { watchesFrozen } from './kubernetes/watches-frozen.ts';
import { watchesLag } from './kubernetes/watches-lag.ts';
import { watchesMerged } from './kubernetes/watches-merged.ts';
import { lateAnswers } from './network/late-answers.ts';
import { lostAnswers } from './network/lost-answers.ts';
import { lostRequests } from './network/lost-requests.ts';
import { refusedConnections } from './network/refused-connections.ts';
import { resets } from './network/resets.ts';
import { slowActs } from './network/slow-acts.ts';
import { clockJumps } from './processes/clock-jumps.ts';
import { crashes } from './processes/crashes.ts';
import { freezes } from './processes/freezes.ts';
import { resharded } from './processes/resharded.ts';
import { restarts } from './processes/restarts.ts';
import { rotatedKey } from './processes/rotated-key.ts';
import { wrongAddress } from './processes/wrong-address.ts';
import { wrongKey } from './processes/wrong-key.ts';

/** Every perturbation, by the name that switches it on. */
export const troubles: Readonly<Record<string, TroubleKind>> = {
  'lost-requests': lostRequests,
  'lost-answers': lostAnswers,
  'late-answers': lateAnswers,
  'slow-acts': slowActs,
  resets: resets,
  'refused-connections': refusedConnections,
  'gateway-404': gateway404,
  'gateway-html': gatewayHtml,
  'gateway-4xx': gateway4xx,
  'gateway-5xx': gateway5xx,
  'gateway-408': gateway408,
  'half-a-page': halfAPage,
  'mixed-answers': mixedAnswers,
  throttled: throttled,
  'lagging-lists': laggingLists,
  'odd-items': oddItems,
  'endless-pages': endlessPages,
  'cloud-clock': cloudClock,
  'revoked-key': revokedKey,
  'empty-account': emptyAccount,
  'watches-cut': watchesCut,
  'watches-frozen': watchesFrozen,
  'watches-lag': watchesLag,
  'watches-merged': watchesMerged,
  compacted: compacted,
  'kube-403': kube403,
  'kube-5xx': kube5xx,
  'kube-conflicts': kubeConflicts,
  'kube-lost-answers': kubeLostAnswers,
  'kube-prunes': kubePrunes,
  'kube-strips': kubeStrips,
  'stale-lists': staleLists,
  'kube-restored': kubeRestored,
  crashes: crashes,
  freezes: freezes,
  'clock-jumps': clockJumps,
  'wrong-address': wrongAddress,
  'wrong-key': wrongKey,
  'rotated-key': rotatedKey,
  restarts: restarts,
  resharded: resharded,
};

export type { Cast, Plan, TroubleKind } from './kind.ts';
