import { join } from 'node:path';

const given = process.env.TEST_KUBE_CLUSTER;

/** Folder of the scripts that run a cluster; undefined where there is none, or not the rights to run pods. */
export const clusterScripts = given && process.getuid?.() === 0 ? given : undefined;

/** What the pods of a run have as their image. */
export const imageOf = (run: string) => join(run, 'image');
