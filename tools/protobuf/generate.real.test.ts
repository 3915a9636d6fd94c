/** What we know of Kubernetes' protobuf messages, held to the Kubernetes that this repository runs. */
import { expect, it } from "vitest";
import { generate, readGenerated } from "./generate.ts";

it("the file is what would be generated: if not, run tools/protobuf/generate.ts", async () => {
  expect(readGenerated()).toBe(await generate());
});
