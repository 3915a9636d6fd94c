import { expect, it } from "vitest";
import { integer } from "./der.ts";

it.each([
  [[], "020100"],
  [[0], "020100"],
  [[0x7f], "02017f"],
  [[0x80], "02020080"],
  [[0, 0, 0x12, 0x34], "02021234"],
  [[0, 0x80], "02020080"],
])("an integer is written with as few bytes as will do: %j", (bytes, hex) => {
  expect(integer(Uint8Array.from(bytes)).toString("hex")).toBe(hex);
});
