/** The cluster's certificates: one authority, and whatever it signs. */
import "reflect-metadata"; // @peculiar/x509 needs it loaded first
import { webcrypto } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as x509 from "@peculiar/x509";
import { today } from "../clock.ts";
import { randomHex } from "../random.ts";

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const DAY = 24 * 60 * 60 * 1000;

/** The files of a certificate and its key. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

export interface CertificateRequest {
  /** The user's name, or the server's. */
  readonly commonName: string;
  /** The user's group. */
  readonly organization?: string;
  /** Addresses and names at which a server is reached; a client needs none. */
  readonly addresses?: readonly string[];
}

/** An authority whose key is kept in `folder`, so that a cluster can be given more certificates later. */
export class Authority {
  readonly certificate: string;
  readonly #folder: string;
  readonly #keys: webcrypto.CryptoKeyPair;
  readonly #issuer: x509.X509Certificate;

  private constructor(folder: string, keys: webcrypto.CryptoKeyPair, issuer: x509.X509Certificate) {
    this.#folder = folder;
    this.#keys = keys;
    this.#issuer = issuer;
    this.certificate = join(folder, "ca.crt");
  }

  /** Makes a new authority and writes it to `folder`. */
  static async create(folder: string, name: string): Promise<Authority> {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const keys = await generateKeys();
    const certificate = await x509.X509CertificateGenerator.createSelfSigned({
      ...validity(),
      serialNumber: randomHex(16),
      name: `CN=${name}`,
      keys,
      signingAlgorithm: algorithm,
      extensions: [
        new x509.BasicConstraintsExtension(true, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.digitalSignature, true),
      ],
    });
    writeFileSync(join(folder, "ca.crt"), certificate.toString("pem") + "\n");
    await writeKey(join(folder, "ca.key"), keys.privateKey);
    return new Authority(folder, keys, certificate);
  }

  /** Reads an authority back. */
  static async open(folder: string): Promise<Authority> {
    const issuer = new x509.X509Certificate(readFileSync(join(folder, "ca.crt"), "utf8"));
    const pkcs8 = x509.PemConverter.decodeFirst(readFileSync(join(folder, "ca.key"), "utf8"));
    const privateKey = await webcrypto.subtle.importKey("pkcs8", pkcs8, algorithm, true, ["sign"]);
    const publicKey = await issuer.publicKey.export(algorithm, ["verify"]);
    return new Authority(folder, { privateKey, publicKey }, issuer);
  }

  /** Issues a certificate that serves for both ends of TLS, and writes `<file>.crt` and `<file>.key`. */
  async issue(file: string, { commonName, organization, addresses = [] }: CertificateRequest): Promise<KeyPair> {
    const keys = await generateKeys();
    const names = addresses.map((value) => ({ type: isAddress(value) ? "ip" : "dns", value }) as const);
    const certificate = await x509.X509CertificateGenerator.create({
      ...validity(),
      serialNumber: randomHex(16),
      subject: [...(organization ? [{ O: [organization] }] : []), { CN: [commonName] }],
      issuer: this.#issuer.subject,
      publicKey: keys.publicKey,
      signingKey: this.#keys.privateKey,
      signingAlgorithm: algorithm,
      extensions: [
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth, x509.ExtendedKeyUsage.clientAuth]),
        ...(names.length > 0 ? [new x509.SubjectAlternativeNameExtension(names)] : []),
      ],
    });
    const pair = { certificate: join(this.#folder, `${file}.crt`), key: join(this.#folder, `${file}.key`) };
    writeFileSync(pair.certificate, certificate.toString("pem") + "\n");
    await writeKey(pair.key, keys.privateKey);
    return pair;
  }

  /** A bare key pair, with which the API server signs service-account tokens. */
  async serviceAccountKeys(): Promise<{ publicKey: string; privateKey: string }> {
    const keys = await generateKeys();
    const files = { publicKey: join(this.#folder, "sa.pub"), privateKey: join(this.#folder, "sa.key") };
    const spki = await webcrypto.subtle.exportKey("spki", keys.publicKey);
    writeFileSync(files.publicKey, x509.PemConverter.encode(spki, "PUBLIC KEY") + "\n");
    await writeKey(files.privateKey, keys.privateKey);
    return files;
  }
}

function generateKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]) as Promise<webcrypto.CryptoKeyPair>;
}

async function writeKey(file: string, key: webcrypto.CryptoKey): Promise<void> {
  const pkcs8 = await webcrypto.subtle.exportKey("pkcs8", key);
  writeFileSync(file, x509.PemConverter.encode(pkcs8, "PRIVATE KEY") + "\n", { mode: 0o600 });
}

function validity(): { notBefore: Date; notAfter: Date } {
  const now = today().getTime();
  return { notBefore: new Date(now - DAY), notAfter: new Date(now + 365 * DAY) };
}

function isAddress(value: string): boolean {
  return /^[\d.]+$|:/.test(value);
}
