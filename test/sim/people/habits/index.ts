import { absentImports } from './absent-imports.ts';
import { accountSwaps } from './account-swaps.ts';
import { accountsPaused } from './accounts-paused.ts';
import { agentsRestarted } from './agents-restarted.ts';
import { annotationsCopied } from './annotations-copied.ts';
import { annotationsForged } from './annotations-forged.ts';
import { annotationsSetBack } from './annotations-set-back.ts';
import { annotationsWiped } from './annotations-wiped.ts';
import { bigAccount } from './big-account.ts';
import { clocksSetRight } from './clocks-set-right.ts';
import { crowdedNamespace } from './crowded-namespace.ts';
import { deletes } from './deletes.ts';
import { edits } from './edits.ts';
import { externalDrift } from './external-drift.ts';
import { externalIDEdits } from './external-id-edits.ts';
import { flagsChanged } from './flags-changed.ts';
import type { Habit } from './habit.ts';
import { imports } from './imports.ts';
import { lostSecrets } from './lost-secrets.ts';
import { namespacesDeleted } from './namespaces-deleted.ts';
import { olderDormant } from './older-dormant.ts';
import { pauses } from './pauses.ts';
import { policies } from './policies.ts';
import { poorAccount } from './poor-account.ts';
import { replays } from './replays.ts';
import { sharedKey } from './shared-key.ts';
import { sharedParents } from './shared-parents.ts';
import { statusesWiped } from './statuses-wiped.ts';
import { tunnels } from './tunnels.ts';
import { twins } from './twins.ts';
import { twoAccountsTwoOperators } from './two-accounts-two-operators.ts';
import { twoOperators } from './two-operators.ts';

/** By the name under which each can be switched on. */
export const habits: Readonly<Record<string, Habit>> = {
  edits,
  deletes,
  pauses,
  policies,
  imports,
  'absent-imports': absentImports,
  'external-id-edits': externalIDEdits,
  'annotations-wiped': annotationsWiped,
  'annotations-copied': annotationsCopied,
  'annotations-forged': annotationsForged,
  'annotations-set-back': annotationsSetBack,
  'statuses-wiped': statusesWiped,
  'external-drift': externalDrift,
  'account-swaps': accountSwaps,
  'shared-key': sharedKey,
  'lost-secrets': lostSecrets,
  'namespaces-deleted': namespacesDeleted,
  twins,
  'shared-parents': sharedParents,
  'two-operators': twoOperators,
  'two-accounts-two-operators': twoAccountsTwoOperators,
  'poor-account': poorAccount,
  'crowded-namespace': crowdedNamespace,
  'big-account': bigAccount,
  'older-dormant': olderDormant,
  'clocks-set-right': clocksSetRight,
  replays,
  tunnels,
  'agents-restarted': agentsRestarted,
  'flags-changed': flagsChanged,
  'accounts-paused': accountsPaused,
};
