import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";

const command = fileURLToPath(new URL("main.ts", import.meta.url));

/** What a person sees who types it. */
function run(...args: string[]): Promise<{ code: number; out: string; error: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [command, ...args], (failure, out, error) =>
      resolve({ code: failure ? Number(failure.code) : 0, out, error }),
    );
  });
}

describe("the command", () => {
  it("prints everything that is installed, each a document", async () => {
    const { code, out } = await run("manifests", "--namespace", "elsewhere", "--ghost-priority", "100");
    const objects = parseAllDocuments(out).map((document) => document.toJS());
    expect(code).toBe(0);
    const counts: Record<string, number> = {};
    for (const { kind } of objects) counts[kind] = (counts[kind] ?? 0) + 1;
    expect(counts).toEqual({
      CustomResourceDefinition: 4,
      PriorityClass: 3,
      Namespace: 1,
      ServiceAccount: 1,
      ClusterRole: 1,
      ClusterRoleBinding: 1,
      Role: 1,
      RoleBinding: 1,
    });
    const find = (kind: string) => objects.filter((each) => each.kind === kind);
    expect(find("PriorityClass").map(({ value }) => value)).toEqual([100, 100, 101]);
    expect(find("ServiceAccount")[0].metadata.namespace).toBe("elsewhere");
    for (const { rules } of [...find("ClusterRole"), ...find("Role")]) expect(JSON.stringify(rules)).not.toContain("*");
  });

  it("prints the configuration of the second kube-scheduler, with certificates and without", async () => {
    const plain = await run("scheduler-config", "--url", "http://127.0.0.1:9443");
    const configuration = parse(plain.out);
    expect(configuration.profiles).toEqual([{ schedulerName: "berth" }]);
    expect(configuration.extenders).toEqual([
      {
        ...{ urlPrefix: "http://127.0.0.1:9443", filterVerb: "filter", preemptVerb: "preempt", httpTimeout: "5s" },
        ...{ nodeCacheCapable: true, ignorable: false },
      },
    ]);
    const tls = ["--tls-ca", "/ca", "--tls-cert", "/cert", "--tls-key", "/key"];
    const secure = await run("scheduler-config", "--url", "https://berth:9443", "--scheduler-name", "slots", ...tls);
    expect(parse(secure.out)).toMatchObject({
      profiles: [{ schedulerName: "slots" }],
      extenders: [{ enableHTTPS: true, tlsConfig: { caFile: "/ca", certFile: "/cert", keyFile: "/key" } }],
    });
  });

  it.each([
    [["scheduler-config", "--url", "https://berth:9443"], 1, /https needs --tls-ca.*BERTH_OPERATOR_OPTION_INVALID/s],
    [["scheduler-config"], 2, /required option '--url <url>'/],
    [["run", "--placement", "magic"], 2, /Allowed choices are gate, extender/],
    [["run", "--extender-port", "x"], 2, /whole number/],
    [["run", "--kubeconfig", "/no/such/file"], 1, /no\/such\/file/],
    [["nothing"], 2, /unknown command 'nothing'/],
  ])("%j ends with %i and says what is wrong", async (args, code, says) => {
    const { code: ended, error } = await run(...args);
    expect([ended, error]).toEqual([code, expect.stringMatching(says)]);
  });

  it("refuses an extender that is open to everybody", async () => {
    const { code, error } = await run("run", "--placement", "extender", "--extender-host", "0.0.0.0");
    expect([code, error]).toEqual([1, expect.stringContaining("BERTH_EXTENDER_OPEN")]);
  });
});
