/** How the stored kinds are named in the data file. Never rename one: existing files would lose their objects. */
export const kinds = {
  reservedAddr: 'reserved_addr',
  botUser: 'bot_user',
  endpoint: 'endpoint',
  endpointConfiguration: 'endpoint_configuration',
  ipPolicy: 'ip_policy',
  certificateAuthority: 'certificate_authority',
  httpsEdge: 'https_edge',
  httpsRoute: 'https_route',
  tlsEdge: 'tls_edge',
  domain: 'reserved_domain',
} as const;
