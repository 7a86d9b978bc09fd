import { expect, test } from "vitest";
import { isPublicAddress } from "./address.ts";
import { parsePageUrl } from "./page-url.ts";

test.each([
  ...["8.8.8.8", "1.1.1.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"].map(
    (a) => [a, true] as const,
  ),
  ...(
    "127.0.0.1 10.1.2.3 172.16.0.1 172.31.255.255 192.168.1.1 169.254.169.254 100.64.0.1 0.0.0.0 224.0.0.1 255.255.255.255 192.0.2.1 198.18.0.1 " +
    "::1 :: fe80::1 fc00::1 fd12::1 ff02::1 ::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:169.254.169.254 64:ff9b::7f00:1 64:ff9b::a9fe:a9fe ::127.0.0.1 2001:db8::1 2002:7f00:1:: fe80::1%eth0 good.com 2130706433"
  )
    .split(" ")
    .map((a) => [a, false] as const),
])("isPublicAddress(%s) is %s", (address, isPublic) => {
  expect(isPublicAddress(address)).toBe(isPublic);
});

const nothing = () => false;
const parse = (text: string, isPrivate: (name: string) => boolean = nothing) => {
  try {
    const { href, host, port } = parsePageUrl(text, isPrivate);
    return [href, host, port];
  } catch (error) {
    return (error as { code: string }).code;
  }
};

test.each([
  ["https://good.com/a?b#c", ["https://good.com/a?b", "good.com", 443]],
  ["http://Good.com/", ["https://good.com/", "good.com", 443]],
  ["http://good.com:8080/", ["https://good.com:8080/", "good.com", 8080]],
  ["https://good.com./", ["https://good.com./", "good.com", 443]],
  ["https://bücher.example/", ["https://xn--bcher-kva.example/", "xn--bcher-kva.example", 443]],
  ["https://good.com@evil.io/", "INVALID"],
  ["https://user:word@evil.io/", "INVALID"],
  ["https://good.com%00.evil.io", "INVALID"],
  ["https://good.com%2eevil.io/", "INVALID"],
  ["https://good.com\\@evil.io/", "INVALID"],
  ["https://good\u0000.com/", "INVALID"],
  ["https://good.com/\n", "INVALID"],
  ["ftp://good.com/", "INVALID"],
  ["file:///etc/passwd", "INVALID"],
  ["good.com", "INVALID"],
  ["https://localhost/", "INVALID"],
  ["https://intranet/", "INVALID"],
  ["https://printer.local/", "INVALID"],
  [`https://good.com/${"a".repeat(2_000)}`, "INVALID"],
  ["http://2130706433/", "PERMISSION"],
  ["http://0x7f.1/", "PERMISSION"],
  ["http://0177.0.0.1/", "PERMISSION"],
  ["http://127.1/", "PERMISSION"],
  ["http://[::ffff:169.254.169.254]/", "PERMISSION"],
  ["http://[::1]/", "PERMISSION"],
  ["https://192.168.0.1/", "PERMISSION"],
])("parsePageUrl(%j)", (text, expected) => {
  expect(parse(text)).toEqual(expected);
});

test("parsePageUrl() lets a host with port that the settings name keep http, and no other port of it", () => {
  const isPrivate = (name: string) => name === "localhost:3000";
  expect(parse("http://localhost:3000/x", isPrivate)).toEqual(["http://localhost:3000/x", "localhost", 3000]);
  expect(parse("http://localhost:3001/", isPrivate)).toBe("INVALID");
});
