import { stringify } from 'yaml';

export interface KubeconfigSettings {
  readonly url: string;
  readonly token: string;
  /** PEM; undefined for plain HTTP. */
  readonly certificate: string | undefined;
}

/** A kubeconfig with one context for this server. */
export function kubeconfigText({ url, token, certificate }: KubeconfigSettings): string {
  const authority =
    certificate === undefined ? {} : { 'certificate-authority-data': Buffer.from(certificate).toString('base64') };
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'edge-operator', cluster: { server: url, ...authority } }],
    users: [{ name: 'admin', user: { token } }],
    contexts: [{ name: 'edge-operator', context: { cluster: 'edge-operator', user: 'admin', namespace: 'default' } }],
    'current-context': 'edge-operator',
  });
}
