/** Addresses that only this machine or its network has: nothing that came by way of a name may lead there. */
import { BlockList, isIP } from "node:net";

/** IANA's special-purpose registries: this host, private, shared, link-local (with clouds' metadata), tests, multicast. */
const V4 = `0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24
  192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4`;
/** All but global unicast, and of that what carries an IPv4 address or goes nowhere. */
const V6 = "::/3 4000::/2 8000::/1 2001::/23 2001:db8::/32 2002::/16 3fff::/20";

/** One for each family: to a list, an IPv4 address lies within `::/3` too. */
const refused = { ipv4: listOf(V4, "ipv4"), ipv6: listOf(V6, "ipv6") };

function listOf(text: string, family: "ipv4" | "ipv6"): BlockList {
  const list = new BlockList();
  for (const block of text.split(/\s+/)) {
    const [net = "", bits] = block.split("/");
    list.addSubnet(net, Number(bits), family);
  }
  return list;
}

/** May a name lead there? False too for what is no address. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 0) return false;
  const family = version === 4 ? "ipv4" : "ipv6";
  return !refused[family].check(address, family);
}
