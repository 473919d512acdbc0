import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { isKey, keyForm } from '../../common/credential/key.ts';
import { type Fields, KubeConfigError, type KubeContext, reasonOf, type Surroundings, textOf } from './kubeconfig.ts';

type ReadFile = Surroundings['readFile'];

/** Of a field of certificates or keys: its data, which win, or what is in its file. Undefined when neither is given. */
export async function materialOf(
  fields: Fields,
  name: string,
  readFile: ReadFile,
): Promise<string | Buffer | undefined> {
  const data = textOf(fields[`${name}-data`]);
  if (data !== undefined) return Buffer.from(data, 'base64');
  const path = textOf(fields[name]);
  return path === undefined ? undefined : readFile(path);
}

/**
 * Looks once at certificates, keys and tokens: what cannot be used at the start is no trouble that passes. What a plugin
 * gives is not asked for. @throws KubeConfigError naming the field and its file
 */
export async function checkMaterial({ cluster, user }: KubeContext, { readFile }: Surroundings): Promise<void> {
  await checkPem(cluster, 'certificate-authority', certificate, readFile);
  const cert = await checkPem(user, 'client-certificate', certificate, readFile);
  const key = await checkPem(user, 'client-key', privateKey, readFile);
  if (cert !== undefined && key === undefined) throw unusable('client-certificate', 'needs client-key');
  if (cert?.checkPrivateKey(key as KeyObject) === false) throw unusable('client-key', 'not that of client-certificate');
  if (user.exec !== undefined && textOf((user.exec as Fields).command) === undefined)
    throw unusable('exec', 'no command');
  const file = textOf(user.tokenFile);
  if (file !== undefined) checkToken(`tokenFile ${file}`, await naming(`tokenFile ${file}`, readFile(file)));
  else if (textOf(user.token) !== undefined) checkToken('token', String(user.token));
}

function checkToken(field: string, text: string): void {
  if (text.trim() === '') throw unusable(field, 'empty');
  if (!isKey(text.trim())) throw unusable(field, `not ${keyForm}`);
}

interface Form<T> {
  readonly what: string;
  /** Throws for a text that is none. */
  readonly parse: (pem: string) => T;
}

const certificate: Form<X509Certificate> = { what: 'a certificate', parse: (pem) => new X509Certificate(pem) };
const privateKey: Form<KeyObject> = { what: 'a private key', parse: createPrivateKey };

async function checkPem<T>(
  fields: Fields,
  name: string,
  { what, parse }: Form<T>,
  readFile: ReadFile,
): Promise<T | undefined> {
  const field = textOf(fields[`${name}-data`]) === undefined ? `${name} ${fields[name]}` : `${name}-data`;
  const material = await naming(field, materialOf(fields, name, readFile));
  if (material === undefined) return undefined;
  try {
    return parse(String(material));
  } catch (error) {
    throw unusable(field, `not ${what} in PEM`, error);
  }
}

function naming<T>(field: string, reading: Promise<T>): Promise<T> {
  return reading.catch((error: unknown) => Promise.reject(unusable(field, reasonOf(error), error)));
}

function unusable(field: string, why: string, cause?: unknown): KubeConfigError {
  return new KubeConfigError(`kubeconfig: ${field}: ${why}`, { cause });
}
