import { expect, it } from "vitest";
import { deviceContract } from "../contract.ts";
import { actOf, callerIn, openAndRead } from "../testing.ts";
import { nullDevice } from "./device.ts";

deviceContract("/dev/null", async () => ({
  device: nullDevice,
  caller: callerIn("/"),
  readable: { subpath: "", content: "" },
  writable: { subpath: "", bytes: "gone" },
  refused: [{ subpath: "/x", flags: 0, code: "NOT_FOUND" }],
}));

it("/dev/null takes everything and gives nothing", async () => {
  const file = await nullDevice.open("", 2, callerIn("/"));
  await file.write(Buffer.from("gone"), actOf());
  expect((await file.read(10, new AbortController().signal)).byteLength).toBe(0);
  expect(await openAndRead(nullDevice, "", callerIn("/"))).toBe("");
});
