import { createSign, generateKeyPairSync, randomBytes } from 'node:crypto';
import { isIP } from 'node:net';

/** DER (X.690) as far as a certificate needs it. */
const der = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content]);
};

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  return length < 0x100 ? Buffer.from([0x81, length]) : Buffer.from([0x82, length >> 8, length & 0xff]);
}

const sequence = (...parts: readonly Uint8Array[]) => der(0x30, ...parts);
const set = (...parts: readonly Uint8Array[]) => der(0x31, ...parts);
const octets = (...parts: readonly Uint8Array[]) => der(0x04, ...parts);
const bits = (content: Uint8Array) => der(0x03, Buffer.from([0]), content);
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'));
const positive = (bytes: Buffer) => der(0x02, Buffer.concat([Buffer.from([0x01]), bytes]));

const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'));
const commonName = oid('550403');
const subjectAlternativeName = oid('551d11');
const basicConstraints = oid('551d13');

const utcTime = (epochMs: number) =>
  der(0x17, Buffer.from(`${new Date(epochMs).toISOString().slice(2, 19).replace(/[-:T]/g, '')}Z`));

export interface Certificate {
  /** PEM, PKCS #8. */
  readonly key: string;
  /** PEM, self-signed, valid for ten years. */
  readonly certificate: string;
}

/** A key and a self-signed certificate (RFC 5280) for one host and `localhost`; `now` is in milliseconds since the epoch. */
export function createCertificate(host: string, now: number): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = sequence(set(sequence(commonName, der(0x0c, Buffer.from('edge-operator-kube')))));
  const day = 86_400_000;
  const validity = sequence(utcTime(now - day), utcTime(now + 3_650 * day));
  const extensions = der(0xa3, sequence(alternativeNames(host), constraints()));
  const tbs = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    positive(randomBytes(15)),
    ecdsaWithSha256,
    name,
    validity,
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    extensions,
  );
  const signature = createSign('sha256').update(tbs).sign(privateKey);
  const certificate = sequence(tbs, ecdsaWithSha256, bits(signature));
  return { key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), certificate: pem(certificate) };
}

function alternativeNames(host: string): Buffer {
  const given = isIP(host) === 4 ? der(0x87, Buffer.from(host.split('.').map(Number))) : der(0x82, Buffer.from(host));
  const names = sequence(given, der(0x82, Buffer.from('localhost')), der(0x87, Buffer.from([127, 0, 0, 1])));
  return sequence(subjectAlternativeName, octets(names));
}

/** It signs itself, so clients can trust it as their only authority. */
function constraints(): Buffer {
  const critical = der(0x01, Buffer.from([0xff]));
  return sequence(basicConstraints, critical, octets(sequence(der(0x01, Buffer.from([0xff])))));
}

function pem(bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}
