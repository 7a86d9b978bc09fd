/** The package's own types are not a module. This declares only the parts in use. */
declare module "@mixmark-io/domino" {
  interface HtmlNode {
    readonly textContent: string | null;
    getAttribute(name: string): string | null;
    querySelector(selector: string): HtmlNode | null;
    querySelectorAll(selector: string): Iterable<HtmlNode>;
  }
  const domino: { createDocument(html: string): HtmlNode };
  export default domino;
  export type { HtmlNode };
}
