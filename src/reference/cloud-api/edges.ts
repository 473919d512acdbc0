/** An HTTPS edge as stored: what decides about its modules. */
export interface HttpsEdgeRecord {
  readonly id: string;
  readonly terminateAt: 'edge' | 'upstream';
}

export interface HttpsRouteRecord {
  readonly id: string;
  readonly edgeId: string;
}
