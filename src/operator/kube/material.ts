import { createPrivateKey, X509Certificate } from 'node:crypto';
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
  await checkPem(user, 'client-certificate', certificate, readFile);
  await checkPem(user, 'client-key', privateKey, readFile);
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

interface Form {
  readonly what: string;
  /** Throws for a text that is none. */
  readonly parse: (pem: string) => unknown;
}

const certificate: Form = { what: 'a certificate', parse: (pem) => new X509Certificate(pem) };
const privateKey: Form = { what: 'a private key', parse: createPrivateKey };

async function checkPem(fields: Fields, name: string, { what, parse }: Form, readFile: ReadFile): Promise<void> {
  const field = textOf(fields[`${name}-data`]) === undefined ? `${name} ${fields[name]}` : `${name}-data`;
  const material = await naming(field, materialOf(fields, name, readFile));
  if (material === undefined) return;
  try {
    parse(String(material));
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
