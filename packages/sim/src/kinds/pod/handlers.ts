/** What is asked of containers, and told to them: probes and the hooks of their life. Pure. */
import type { FieldErrors } from "../../api/field-errors.ts";
import { checkNotNegative, checkOneOf, checkPort, checkPortOrName, headerProblems } from "../common/formats.ts";
import type { Container, LifecycleHandler, Probe } from "./types.ts";

type Handler = Probe & LifecycleHandler;

export function checkProbes(container: Container, grace: number | undefined, field: string, errors: FieldErrors): void {
  const { livenessProbe, readinessProbe, startupProbe } = container;
  if (livenessProbe) checkProbe(livenessProbe, grace, `${field}.livenessProbe`, errors, true);
  if (readinessProbe) {
    const place = `${field}.readinessProbe`;
    checkProbe(readinessProbe, grace, place, errors, false);
    const { terminationGracePeriodSeconds: own } = readinessProbe;
    if (own !== undefined) {
      errors.invalid(`${place}.terminationGracePeriodSeconds`, own, "must not be set for readinessProbes");
    }
  }
  if (startupProbe) checkProbe(startupProbe, grace, `${field}.startupProbe`, errors, true);
}

const COUNTS = [
  "initialDelaySeconds",
  "timeoutSeconds",
  "periodSeconds",
  "successThreshold",
  "failureThreshold",
] as const;

function checkProbe(
  probe: Probe,
  grace: number | undefined,
  field: string,
  errors: FieldErrors,
  onceIsEnough: boolean,
): void {
  checkHandler(probe, grace, field, errors);
  for (const name of COUNTS) checkNotNegative(probe[name], `${field}.${name}`, errors);
  const { terminationGracePeriodSeconds: own, successThreshold } = probe;
  if (own !== undefined && own <= 0) {
    errors.invalid(`${field}.terminationGracePeriodSeconds`, own, "must be greater than 0");
  }
  if (onceIsEnough && successThreshold !== 1) {
    errors.invalid(`${field}.successThreshold`, successThreshold ?? 0, "must be 1");
  }
}

export function checkLifecycle(
  { postStart, preStop }: NonNullable<Container["lifecycle"]>,
  grace: number | undefined,
  field: string,
  errors: FieldErrors,
): void {
  if (postStart) checkHandler(postStart, grace, `${field}.postStart`, errors);
  if (preStop) checkHandler(preStop, grace, `${field}.preStop`, errors);
}

const HANDLERS = ["exec", "httpGet", "tcpSocket", "grpc", "sleep"] as const;

function checkHandler(handler: Handler, grace: number | undefined, field: string, errors: FieldErrors): void {
  const [first, ...more] = HANDLERS.filter((name) => handler[name] !== undefined);
  if (first === undefined) errors.required(field, "must specify a handler type");
  else checkAction(first, handler, grace, field, errors);
  for (const name of more) errors.forbidden(`${field}.${name}`, "may not specify more than 1 handler type");
}

function checkAction(
  action: (typeof HANDLERS)[number],
  { exec, httpGet, tcpSocket, grpc, sleep }: Handler,
  grace: number | undefined,
  field: string,
  errors: FieldErrors,
): void {
  switch (action) {
    case "exec":
      if (!exec?.command?.length) errors.required(`${field}.exec.command`);
      return;
    case "httpGet":
      checkPortOrName(httpGet?.port, `${field}.httpGet.port`, errors);
      checkOneOf(httpGet?.scheme, ["HTTP", "HTTPS"], `${field}.httpGet.scheme`, errors);
      for (const { name = "" } of httpGet?.httpHeaders ?? []) {
        for (const problem of headerProblems(name)) errors.invalid(`${field}.httpGet.httpHeaders`, name, problem);
      }
      return;
    case "tcpSocket":
      checkPortOrName(tcpSocket?.port, `${field}.tcpSocket.port`, errors);
      return;
    case "grpc":
      checkPort(grpc?.port, `${field}.grpc.port`, errors);
      return;
    case "sleep": {
      const seconds = sleep?.seconds ?? 0;
      if (grace === undefined || (seconds >= 0 && seconds <= grace)) return;
      const why = `must be non-negative and less than terminationGracePeriodSeconds (${grace})`;
      errors.invalid(`${field}.sleep`, seconds, why);
    }
  }
}
