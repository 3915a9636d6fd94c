/**
 * An authority and the certificates that it signs, made in about a millisecond each. Node cannot make certificates, and to
 * load a library that can takes two hundred milliseconds: more than the rest of a cluster's start.
 */
import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { isIPv4, isIPv6 } from "node:net";
import * as der from "./der.ts";

/** A certificate and its key, both as PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

export interface Subject {
  readonly commonName: string;
  readonly organizations?: readonly string[];
  /** The names and addresses at which a server is reached; a client needs none. */
  readonly addresses?: readonly string[];
}

const SIGNATURE = der.sequence(der.identifier("1.2.840.10045.4.3.2")); // ECDSA with SHA-256
const COMMON_NAME = "2.5.4.3";
const ORGANIZATION = "2.5.4.10";
const BASIC_CONSTRAINTS = "2.5.29.19";
const KEY_USAGE = "2.5.29.15";
const EXTENDED_KEY_USAGE = "2.5.29.37";
const ALTERNATIVE_NAMES = "2.5.29.17";
const [SERVER_AUTH, CLIENT_AUTH] = ["1.3.6.1.5.5.7.3.1", "1.3.6.1.5.5.7.3.2"];

/** A simulated cluster may live at any time; whoever looks at its certificate lives in this century. */
const VALIDITY = der.sequence(der.time("20000101000000Z"), der.time("20991231235959Z"));

export class Authority {
  readonly certificate: string;
  readonly #name: Buffer;
  readonly #key: KeyObject;

  constructor(name: string) {
    const { privateKey, publicKey } = newKeys();
    this.#name = distinguishedName({ commonName: name });
    this.#key = privateKey;
    this.certificate = this.#signed(this.#name, publicKey, [
      extension(BASIC_CONSTRAINTS, der.sequence(der.yes), true),
      extension(KEY_USAGE, der.bits(Buffer.from([0x84]), 2), true), // signs, also certificates
    ]);
  }

  /** Good for both ends of a connection. */
  issue(subject: Subject): KeyPair {
    const { privateKey, publicKey } = newKeys();
    const { addresses = [] } = subject;
    const certificate = this.#signed(distinguishedName(subject), publicKey, [
      extension(KEY_USAGE, der.bits(Buffer.from([0x80]), 7), true),
      extension(EXTENDED_KEY_USAGE, der.sequence(der.identifier(SERVER_AUTH), der.identifier(CLIENT_AUTH))),
      ...(addresses.length > 0 ? [extension(ALTERNATIVE_NAMES, der.sequence(...addresses.map(generalName)))] : []),
    ]);
    return { certificate, key: privateKey.export({ type: "pkcs8", format: "pem" }).toString() };
  }

  #signed(subject: Buffer, publicKey: KeyObject, extensions: readonly Buffer[]): string {
    const info = publicKey.export({ type: "spki", format: "der" });
    const content = der.sequence(
      der.explicit(0, der.integer(Buffer.from([2]))), // version 3
      // No two keys are the same, and so no two numbers.
      der.integer(createHash("sha256").update(info).digest().subarray(0, 16)),
      SIGNATURE,
      this.#name,
      VALIDITY,
      subject,
      info,
      der.explicit(3, der.sequence(...extensions)),
    );
    const signature = der.bits(sign("sha256", content, this.#key));
    return pem("CERTIFICATE", der.sequence(content, SIGNATURE, signature));
  }
}

function newKeys() {
  return generateKeyPairSync("ec", { namedCurve: "P-256" });
}

function distinguishedName({ commonName, organizations = [] }: Subject): Buffer {
  const part = (kind: string, value: string) => der.set(der.sequence(der.identifier(kind), der.text(value)));
  return der.sequence(
    ...organizations.map((organization) => part(ORGANIZATION, organization)),
    part(COMMON_NAME, commonName),
  );
}

function extension(kind: string, value: Buffer, critical = false): Buffer {
  return der.sequence(der.identifier(kind), ...(critical ? [der.yes] : []), der.octets(value));
}

function generalName(address: string): Buffer {
  if (isIPv4(address)) return der.implicit(7, Buffer.from(address.split(".").map(Number)));
  if (isIPv6(address)) return der.implicit(7, addressBytes(address));
  return der.implicit(2, Buffer.from(address));
}

function addressBytes(address: string): Buffer {
  const groups = (text: string) => (text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16)));
  const [head = "", tail] = address.split("::");
  const [first, last] = [groups(head), groups(tail ?? "")];
  const all = [...first, ...Array<number>(Math.max(0, 8 - first.length - last.length)).fill(0), ...last];
  return Buffer.from(all.slice(0, 8).flatMap((group) => [group >> 8, group & 0xff]));
}

function pem(label: string, bytes: Buffer): string {
  const lines = bytes.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}
