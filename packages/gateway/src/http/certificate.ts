/**
 * The gateway's certificate and its key. Whoever renews them, as cert-manager does, writes others into the same files: they are
 * looked at now and then, and from then on new connections get the new certificate. Those that are open go on.
 */
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import type { Clock, Logger, Timer } from "@berth/kube";
import { GatewayError } from "../errors.ts";

/** Where they are, in PEM. */
export interface TlsFiles {
  /** With the certificates that have signed it, if clients do not know these. */
  readonly certFile: string;
  readonly keyFile: string;
}

/** A certificate and the key that belongs to it. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

const LOOK_EVERY_MS = 30_000;

/** Throws BERTH_GATEWAY_OPTION_INVALID if a file cannot be read, or the two are no pair. */
export function readKeyPair({ certFile, keyFile }: TlsFiles): KeyPair {
  const pair = { cert: contentOf(certFile), key: contentOf(keyFile) };
  try {
    createSecureContext(pair);
    return pair;
  } catch (cause) {
    const message = `tls: ${certFile} and ${keyFile} are no certificate and its key: ${(cause as Error).message}`;
    throw new GatewayError("BERTH_GATEWAY_OPTION_INVALID", message, { cause });
  }
}

function contentOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new GatewayError("BERTH_GATEWAY_OPTION_INVALID", `tls: ${file} cannot be read`, { cause });
  }
}

/** What it takes to follow the files. */
export interface RenewalOptions {
  readonly files: TlsFiles;
  /** What is served now. */
  readonly pair: KeyPair;
  readonly clock: Clock;
  readonly log: Logger;
  /** Serves another one. */
  readonly use: (pair: KeyPair) => void;
}

/** Looks at the files until it is called off. What is no pair is passed over: perhaps only one of the two has been written yet. */
export function followKeyPair({ files, pair, clock, log, use }: RenewalOptions): Timer {
  const { certFile } = files;
  let served = pair;
  let complaint: string | undefined;
  const look = () => {
    try {
      const found = readKeyPair(files);
      complaint = undefined;
      if (found.cert === served.cert && found.key === served.key) return;
      use(found);
      served = found;
      log.info("the certificate was renewed", { certFile, until: new X509Certificate(found.cert).validTo });
    } catch (error) {
      const { message } = error as Error;
      // Once, and not with every look.
      if (message !== complaint) log.warn("the certificate is not renewed: the one before is served on", { error });
      complaint = message;
    }
  };
  let timer: Timer;
  const wait = () => {
    timer = clock.setTimer(LOOK_EVERY_MS, () => {
      look();
      wait();
    });
  };
  wait();
  return { cancel: () => timer.cancel() };
}
