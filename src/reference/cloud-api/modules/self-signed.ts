import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import type { Random } from '../../../common/random-id.ts';

const tenYearsMs = 10 * 365 * 24 * 3_600_000;

/**
 * A self-signed X.509 v3 certificate (RFC 5280) of a fresh Ed25519 key, PEM, whose bytes are those of `random`. The
 * private key is not kept: this server shows the certificate and signs nothing.
 */
export function selfSignedCertificate(commonName: string, now: number, random: Random): string {
  const key = Buffer.concat([ed25519Key, bytesOf(random, 32)]);
  const privateKey = createPrivateKey({ key, format: 'der', type: 'pkcs8' });
  const publicKey = createPublicKey(privateKey);
  const name = sequence(set(sequence(oid(2, 5, 4, 3), utf8(commonName))));
  const algorithm = sequence(oid(1, 3, 101, 112));
  const toSign = sequence(
    tlv(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([0x40]), bytesOf(random, 15)])),
    algorithm,
    name,
    sequence(time(now), time(now + tenYearsMs)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
  );
  const signature = bitString(sign(undefined, toSign, privateKey));
  const base64 = sequence(toSign, algorithm, signature).toString('base64');
  return `-----BEGIN CERTIFICATE-----\n${base64.replace(/.{1,64}/g, '$&\n')}-----END CERTIFICATE-----\n`;
}

/** PKCS #8 (RFC 8410) up to the 32 bytes of the key. */
const ed25519Key = Buffer.from('302e020100300506032b657004220420', 'hex');

const bytesOf = (random: Random, length: number): Buffer =>
  Buffer.from(Array.from({ length }, () => Math.floor(256 * random())));

/** DER: tag, length, value. */
function tlv(tag: number, ...parts: readonly Buffer[]): Buffer {
  const value = Buffer.concat(parts);
  const length = value.length;
  const header = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...header]), value]);
}

const sequence = (...parts: readonly Buffer[]): Buffer => tlv(0x30, ...parts);
const set = (...parts: readonly Buffer[]): Buffer => tlv(0x31, ...parts);
const integer = (value: Buffer): Buffer => tlv(0x02, value);
const bitString = (value: Buffer): Buffer => tlv(0x03, Buffer.from([0]), value);
const utf8 = (text: string): Buffer => tlv(0x0c, Buffer.from(text));

/** UTCTime, good until 2049. */
const time = (ms: number): Buffer =>
  tlv(0x17, Buffer.from(`${new Date(ms).toISOString().replace(/[-:T]/g, '').slice(2, 14)}Z`));

function oid(first: number, second: number, ...rest: readonly number[]): Buffer {
  return tlv(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(value: number): number[] {
  const high = value >> 7;
  return high === 0 ? [value] : [...base128(high).map((byte) => byte | 0x80), value & 0x7f];
}
