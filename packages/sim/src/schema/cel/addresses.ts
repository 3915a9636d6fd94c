/** `url(…)`, `ip(…)` and `cidr(…)`. */
import { BlockList, isIP } from "node:net";
import type { Environment } from "@marcbachmann/cel-js";

/** Go's: an absolute address, or an absolute path without anything before it. */
class CelUrl {
  readonly scheme: string;
  readonly host: string;
  readonly hostname: string;
  readonly port: string;
  readonly path: string;
  readonly query: Map<string, string[]>;
  readonly text: string;

  private constructor(text: string, url: URL | undefined, rest: string) {
    this.text = text;
    const [, host = ""] = text.match(/^[a-zA-Z][a-zA-Z0-9+.-]*:\/\/(?:[^@/?#]*@)?([^/?#]*)/) ?? [];
    this.scheme = url?.protocol.slice(0, -1) ?? "";
    this.host = host;
    const [, hostname = "", port = ""] = host.match(/^(.*?)(?::(\d+))?$/) ?? [];
    this.hostname = hostname.replace(/^\[(.*)\]$/, "$1");
    this.port = port;
    const [path = ""] = rest.split(/[?#]/);
    this.path = encodeURI(decodeURI(path));
    this.query = new Map();
    const search = rest.includes("?") ? rest.slice(rest.indexOf("?") + 1).split("#")[0] : "";
    for (const [key, value] of new URLSearchParams(search))
      this.query.set(key, [...(this.query.get(key) ?? []), value]);
  }

  static parse(text: string): CelUrl | undefined {
    try {
      if (text.startsWith("/")) return new CelUrl(text, undefined, text);
      const url = new URL(text);
      const rest = text.replace(/^[a-zA-Z][a-zA-Z0-9+.-]*:(\/\/[^/?#]*)?/, "");
      return new CelUrl(text, url, rest);
    } catch {
      return undefined;
    }
  }
}

class CelIp {
  readonly text: string;
  readonly family: 4 | 6;

  private constructor(text: string, family: 4 | 6) {
    this.text = text;
    this.family = family;
  }

  static parse(text: string): CelIp | undefined {
    const family = isIP(text);
    if (family === 0 || text.includes("%") || /^::ffff:\d+\./i.test(text)) return undefined;
    return new CelIp(text, family === 4 ? 4 : 6);
  }

  /** As it is written by everybody who follows the rules. */
  get canonical(): string {
    return this.family === 4 ? this.text : new URL(`http://[${this.text}]/`).hostname.slice(1, -1);
  }

  within(...networks: readonly string[]): boolean {
    return networks.some((network) => CelCidr.parse(network)?.contains(this));
  }
}

class CelCidr {
  readonly address: CelIp;
  readonly prefix: number;
  readonly text: string;

  private constructor(text: string, address: CelIp, prefix: number) {
    this.text = text;
    this.address = address;
    this.prefix = prefix;
  }

  static parse(text: string): CelCidr | undefined {
    const [ip = "", prefix = "", ...more] = text.split("/");
    const address = CelIp.parse(ip);
    if (!address || more.length > 0 || !/^(0|[1-9]\d{0,2})$/.test(prefix)) return undefined;
    return Number(prefix) <= (address.family === 4 ? 32 : 128) ? new CelCidr(text, address, Number(prefix)) : undefined;
  }

  contains({ text, family }: CelIp): boolean {
    if (family !== this.address.family) return false;
    const list = new BlockList();
    list.addSubnet(this.address.text, this.prefix, family === 4 ? "ipv4" : "ipv6");
    return list.check(text, family === 4 ? "ipv4" : "ipv6");
  }

  containsCidr(other: CelCidr): boolean {
    return other.prefix >= this.prefix && this.contains(other.address);
  }
}

function must<T>(found: T | undefined, what: string, text: string): T {
  if (found === undefined) throw new Error(`${what} ${JSON.stringify(text)} parse error during conversion from string`);
  return found;
}

const ip = (text: string) => {
  const found = CelIp.parse(text);
  if (found) return found;
  const [what, why] = [`IP Address ${JSON.stringify(text)}`, `ParseAddr(${JSON.stringify(text)}): unable to parse IP`];
  throw new Error(`${what} parse error during conversion from string: ${why}`);
};
const cidr = (text: string) => must(CelCidr.parse(text), "network address", text);

export function registerAddresses(env: Environment): void {
  env
    .registerType("kubernetes.URL", { ctor: CelUrl, fields: {} })
    .registerFunction("url(string): kubernetes.URL", (text: string) => must(CelUrl.parse(text), "URL", text))
    .registerFunction("isURL(string): bool", (text: string) => CelUrl.parse(text) !== undefined)
    .registerFunction("kubernetes.URL.getScheme(): string", (url: CelUrl) => url.scheme)
    .registerFunction("kubernetes.URL.getHost(): string", (url: CelUrl) => url.host)
    .registerFunction("kubernetes.URL.getHostname(): string", (url: CelUrl) => url.hostname)
    .registerFunction("kubernetes.URL.getPort(): string", (url: CelUrl) => url.port)
    .registerFunction("kubernetes.URL.getEscapedPath(): string", (url: CelUrl) => url.path)
    .registerFunction("kubernetes.URL.getQuery(): map<string, list<string>>", (url: CelUrl) => url.query)
    .registerOperator("kubernetes.URL == kubernetes.URL", (a: CelUrl, b: CelUrl) => a.text === b.text);
  env
    .registerType("net.IP", { ctor: CelIp, fields: {} })
    .registerFunction("ip(string): net.IP", ip)
    .registerFunction("isIP(string): bool", (text: string) => CelIp.parse(text) !== undefined)
    .registerFunction("string(net.IP): string", (address: CelIp) => address.canonical)
    .registerFunction("net.IP.family(): int", (address: CelIp) => BigInt(address.family))
    .registerFunction("net.IP.isUnspecified(): bool", (address: CelIp) => address.within("0.0.0.0/32", "::/128"))
    .registerFunction("net.IP.isLoopback(): bool", (address: CelIp) => address.within("127.0.0.0/8", "::1/128"))
    .registerFunction("net.IP.isLinkLocalMulticast(): bool", (address: CelIp) =>
      address.within("224.0.0.0/24", "ff02::/16"),
    )
    .registerFunction("net.IP.isLinkLocalUnicast(): bool", (address: CelIp) =>
      address.within("169.254.0.0/16", "fe80::/10"),
    )
    .registerFunction(
      "net.IP.isGlobalUnicast(): bool",
      (address: CelIp) =>
        !address.within("0.0.0.0/32", "255.255.255.255/32", "127.0.0.0/8", "224.0.0.0/4", "169.254.0.0/16") &&
        !address.within("::/128", "::1/128", "ff00::/8", "fe80::/10"),
    )
    .registerOperator("net.IP == net.IP", (a: CelIp, b: CelIp) => a.canonical === b.canonical);
  env
    .registerType("net.CIDR", { ctor: CelCidr, fields: {} })
    .registerFunction("cidr(string): net.CIDR", cidr)
    .registerFunction("isCIDR(string): bool", (text: string) => CelCidr.parse(text) !== undefined)
    .registerFunction("string(net.CIDR): string", (network: CelCidr) => network.text)
    .registerFunction("net.CIDR.containsIP(net.IP): bool", (network: CelCidr, address: CelIp) =>
      network.contains(address),
    )
    .registerFunction("net.CIDR.containsIP(string): bool", (network: CelCidr, text: string) =>
      network.contains(ip(text)),
    )
    .registerFunction("net.CIDR.containsCIDR(net.CIDR): bool", (network: CelCidr, other: CelCidr) =>
      network.containsCidr(other),
    )
    .registerFunction("net.CIDR.containsCIDR(string): bool", (network: CelCidr, text: string) =>
      network.containsCidr(cidr(text)),
    )
    .registerFunction("net.CIDR.ip(): net.IP", (network: CelCidr) => network.address)
    .registerFunction("net.CIDR.prefixLength(): int", (network: CelCidr) => BigInt(network.prefix))
    .registerOperator("net.CIDR == net.CIDR", (a: CelCidr, b: CelCidr) => a.text === b.text);
}
