/** `berth manifests`: what a cluster needs, as YAML. */
import { gatewayInstallation } from "@berth/gateway";
import { installation, schedulerConfiguration } from "@berth/operator";
import { stringify } from "yaml";

export interface ManifestFlags {
  readonly namespace: string;
  readonly serves: string;
  readonly schedulerConfig?: boolean;
  readonly extenderUrl: string;
}

export function manifests(flags: ManifestFlags): void {
  if (flags.schedulerConfig) {
    const folder = "/etc/berth/tls";
    const tls = { caFile: `${folder}/ca.crt`, certFile: `${folder}/tls.crt`, keyFile: `${folder}/tls.key` };
    const isPlain = flags.extenderUrl.startsWith("http:");
    const configuration = schedulerConfiguration({
      ...{ schedulerName: "berth", url: flags.extenderUrl },
      ...(!isPlain && { tls }),
    });
    process.stdout.write(stringify(configuration));
    return;
  }
  const { namespace, serves } = flags;
  const objects = [
    ...installation({ namespace }).map(({ object }) => object),
    ...gatewayInstallation({ namespace, serves }),
  ];
  // Rules that several share are written out in each place: not every reader of YAML knows what an alias is.
  process.stdout.write(objects.map((object) => stringify(object, { aliasDuplicateObjects: false })).join("---\n"));
}
