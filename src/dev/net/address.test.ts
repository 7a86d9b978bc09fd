import { expect, it } from "vitest";
import { isPublicAddress } from "./address.ts";

it.each("1.1.1.1 93.184.215.14 2606:4700:4700::1111 2a00:1450:4001::1".split(" "))(
  "isPublicAddress() holds for %s",
  (address) => expect(isPublicAddress(address)).toBe(true),
);

it.each(
  `127.0.0.1 0.0.0.0 10.1.2.3 100.64.0.1 169.254.169.254 172.31.0.1 192.168.1.1 224.0.0.1 255.255.255.255 ::1 :: ::ffff:1.1.1.1
   64:ff9b::a00:1 fe80::1 fd00:ec2::254 fc00::1 ff02::1 2002:7f00:1:: 2001:db8::1 name 1.1 2130706433`.split(
    /\s+/,
  ),
)("isPublicAddress() does not hold for %s", (address) => expect(isPublicAddress(address)).toBe(false));
