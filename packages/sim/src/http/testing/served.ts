/** An API server with HTTP before it and nothing else, for tests. */
import { type Clock, SeededRandom, VirtualClock } from "@berth/kube";
import { admissions } from "../../admission/admissions.ts";
import { ApiServer } from "../../api/api-server.ts";
import type { AnyObject } from "../../api/json.ts";
import { Access, type AccessOptions } from "../../auth/access.ts";
import { AccessControl } from "../../auth/access-control.ts";
import { builtinResources } from "../../kinds/builtin.ts";
import { subresources } from "../../kinds/subresources.ts";
import { HttpServer, type HttpServerOptions } from "../http-server.ts";
import { type Answered, type Asked, ask } from "./ask.ts";

export interface ServedOptions extends Partial<Omit<HttpServerOptions, "server" | "access">>, AccessOptions {
  readonly clock?: Clock;
}

export interface Served {
  readonly server: ApiServer;
  readonly access: Access;
  readonly http: HttpServer;
  /** What went wrong that should not have. */
  readonly failures: unknown[];
  ask(method: string, path: string, asked?: Asked): Promise<Answered>;
  /** Stores an object, as an administrator. */
  put(apiVersion: string, kind: string, object: object): AnyObject;
  stop(): Promise<void>;
}

/** Without TLS, unless asked for. */
export async function served(options: ServedOptions = {}): Promise<Served> {
  const { clock = new VirtualClock(), tokens = {}, ...rest } = options;
  const failures: unknown[] = [];
  const onFailure = (error: unknown) => void failures.push(error);
  const access = new Access({ tokens });
  const server = new ApiServer({
    clock,
    random: new SeededRandom("served"),
    admissions,
    subresources: { ...subresources, ...access.subresources },
    onFailure,
  });
  for (const resource of builtinResources()) server.resources.add(access.completed(resource));
  access.attach(server);
  const control = new AccessControl({ server, clock, random: new SeededRandom("access"), onFailure });
  control.start();
  const http = new HttpServer({ server, access, tls: false, onFailure, ...rest });
  await http.start();
  return {
    server,
    access,
    http,
    failures,
    ask: (method, path, asked) => ask(method, `${http.address}${path}`, asked),
    put(apiVersion, kind, object) {
      const resource = server.resources.findKind(apiVersion, kind);
      if (!resource) throw new Error(`there is no ${kind}`);
      const { namespace } = (object as AnyObject).metadata;
      return server.request({ verb: "create", kind: resource, namespace, body: object });
    },
    async stop() {
      control.stop();
      await http.stop();
    },
  };
}
