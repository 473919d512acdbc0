import { parse } from 'yaml';
import { type Expectation, type Expected, idsIn, json, missing, set, strange, value } from './expectation.ts';
import { type Fields, fieldsOf, parsed, textOf, textsOf } from './json.ts';
import type { Kind } from './resource.ts';

/*
 * What a spec asks of the cloud, from the definitions of the kinds and the Cloud Management API alone: the operator has
 * a mapping of its own, and a mistake in the one is seen by the other.
 */

/** The texts that a key of a Secret or ConfigMap of the resource's namespace holds, or held lately. */
export type Read = (kind: 'Secret' | 'ConfigMap', name: string, key: string) => readonly (string | undefined)[];

/** An object whose id the service assigns. */
export interface ImpliedObject {
  readonly collection: string;
  /** Body of the POST. */
  readonly create: Expectation;
  /** Fields that a PATCH may have, and that the object has to show. */
  readonly content: Expectation;
}

export interface ImpliedModule {
  /** As the spec and the status call it. */
  readonly part: string;
  readonly path: string;
  /** Body of the PUT, and what the module has to show. */
  readonly content: Expectation;
}

/** Undefined for kinds that manage no such object. */
export function impliedObject(kind: Kind, spec: Fields): ImpliedObject | undefined {
  if (kind === 'ReservedAddr') return reservedAddr(spec);
  return kind === 'BotUser' ? botUser(spec) : undefined;
}

/** Whether a POST of that body is what the spec asks for. */
export function asksFor(kind: Kind, spec: Fields, body: Fields): boolean {
  const create = impliedObject(kind, spec)?.create;
  return create !== undefined && strange(body, create).length + missing(body, create).length === 0;
}

/** Every module that the spec names. */
export function impliedModules(kind: Kind, spec: Fields, read: Read): readonly ImpliedModule[] {
  return modulePaths(kind, spec)
    .filter(({ part }) => part === 'trafficPolicy' || spec[part] !== undefined)
    .map(({ part, path }) => ({ part, path, content: contentOf(part, spec, read) }));
}

export interface ModulePath {
  readonly part: string;
  readonly path: string;
}

/** Of every module that a resource of that parent could name. */
export function modulePaths(kind: Kind, spec: Fields): readonly ModulePath[] {
  const [edge, route] = [String(spec.edgeID), String(spec.routeID)];
  const of = (parent: string, names: Readonly<Record<string, string>>) =>
    Object.entries(names).map(([part, name]) => ({ part, path: `${parent}/${name}` }));
  switch (kind) {
    case 'HttpsRouteModules':
      return of(`/edges/https/${edge}/routes/${route}`, {
        saml: 'saml',
        ipRestriction: 'ip_restriction',
        webhookVerification: 'webhook_verification',
        compression: 'compression',
      });
    case 'HttpsEdgeModules':
      return of(`/edges/https/${edge}`, { mutualTLS: 'mutual_tls', tlsTermination: 'tls_termination' });
    case 'TlsEdgeTrafficPolicy':
      return of(`/edges/tls/${edge}`, { trafficPolicy: 'traffic_policy' });
    default:
      return [];
  }
}

function reservedAddr(spec: Fields): ImpliedObject {
  const { description, metadata, region = 'us', endpointConfigurationID } = spec;
  const attached: Expected = {
    ...value(endpointConfigurationID),
    shown: ({ endpoint_configuration }) => fieldsOf(endpoint_configuration).id,
  };
  return {
    collection: 'reserved_addrs',
    create: {
      description: value(description ?? '', ...(description === undefined || description === '' ? [undefined] : [])),
      metadata: value(metadata, ...(metadata === '' ? [undefined] : [])),
      region: value(region, ...(region === 'us' ? [undefined] : [])),
    },
    content: {
      description: value(description),
      metadata: value(metadata),
      region: value(region),
      endpoint_configuration_id: attached,
    },
  };
}

function botUser({ name, active = true }: Fields): ImpliedObject {
  const content = { name: value(name), active: value(active) };
  return { collection: 'bot_users', create: { ...content, active: value(active, undefined) }, content };
}

function contentOf(part: string, spec: Fields, read: Read): Expectation {
  if (part === 'trafficPolicy') return { ...enabled(spec), value: policy(spec, read) };
  const fields = fieldsOf(spec[part]);
  switch (part) {
    case 'saml':
      return saml(fields, read);
    case 'ipRestriction':
      return { ...enabled(fields), ip_policy_ids: ids(fields.ipPolicyIDs, 'ip_policies') };
    case 'webhookVerification':
      return { ...enabled(fields), provider: value(fields.provider), secret: secret(fields, read) };
    case 'mutualTLS':
      return {
        ...enabled(fields),
        certificate_authority_ids: ids(fields.certificateAuthorityIDs, 'certificate_authorities'),
      };
    case 'tlsTermination':
      return { ...enabled(fields), min_version: value(fields.minVersion) };
    default:
      return enabled(fields);
  }
}

/** Defaults to true when unspecified; so it does at the service, which shows it always. */
const enabled = ({ enabled: given = true }: Fields): Expectation => ({ enabled: value(given) });

function ids(given: unknown, list: string): Expected {
  return { ...set(given === undefined ? undefined : textsOf(given)), shown: idsIn(list) };
}

function saml(fields: Fields, read: Read): Expectation {
  return {
    ...enabled(fields),
    options_passthrough: value(fields.optionsPassthrough),
    cookie_prefix: value(fields.cookiePrefix),
    inactivity_timeout: value(fields.inactivityTimeoutSeconds),
    maximum_duration: value(fields.maximumDurationSeconds),
    idp_metadata: value(...idpMetadata(fields, read)),
    force_authn: value(fields.forceAuthn),
    allow_idp_initiated: value(fields.allowIdpInitiated),
    authorized_groups: set(fields.authorizedGroups),
    nameid_format: value(fields.nameidFormat),
  };
}

/** What is referred to and not there implies nothing: no text is like it. */
const nothing = Symbol('nothing');

function idpMetadata({ idpMetadata: inline, idpMetadataFrom }: Fields, read: Read): readonly unknown[] {
  if (idpMetadataFrom === undefined) return [inline];
  const { configMapKeyRef, secretKeyRef } = fieldsOf(idpMetadataFrom);
  return configMapKeyRef === undefined
    ? texts('Secret', secretKeyRef, read)
    : texts('ConfigMap', configMapKeyRef, read);
}

function secret({ secretRef }: Fields, read: Read): Expected {
  return secretRef === undefined ? value(undefined) : value(...texts('Secret', secretRef, read));
}

function policy({ policy: inline, policyFrom }: Fields, read: Read): Expected {
  if (policyFrom === undefined) return json(inline);
  const found = texts('ConfigMap', fieldsOf(policyFrom).configMapKeyRef, read);
  return json(...found.map((text) => (typeof text === 'string' ? documentIn(text) : text)));
}

function texts(kind: 'Secret' | 'ConfigMap', ref: unknown, read: Read): readonly unknown[] {
  const { name, key } = fieldsOf(ref);
  return read(kind, textOf(name) ?? '', textOf(key) ?? '').map((text) => text ?? nothing);
}

/** JSON first, else YAML; what is neither implies nothing. */
function documentIn(text: string): unknown {
  const found = parsed(text);
  if (found !== undefined) return found;
  try {
    return parse(text, { logLevel: 'error' });
  } catch {
    return nothing;
  }
}
