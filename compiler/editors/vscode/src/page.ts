// The page of a drawing inside of an editor: it tells which node was clicked, and marks the node of the cursor.
export interface Position {
  line: number;
  character: number;
}

export interface NodeSpot {
  node: string;
  uri: string;
  range: { start: Position; end: Position };
}

export interface Page {
  html: string;
  nodes: NodeSpot[];
}

/** What runs in the page beside its own script. */
function connect(host: { postMessage(message: unknown): void }): void {
  const pictures = JSON.parse(document.getElementById("data")!.textContent!) as { boxes: { name: string; role: string }[] }[];
  const sections = [...document.querySelectorAll(".picture")];
  const boxOf = (element: Element) => {
    const at = sections.indexOf(element.closest(".picture")!);
    return pictures[at]?.boxes[Number(element.getAttribute("data-box"))];
  };
  document.addEventListener("click", (event) => {
    const hit = (event.target as Element).closest("[data-box]");
    const box = hit === null ? undefined : boxOf(hit);
    if (box?.role === "node") host.postMessage({ node: box.name });
  });
  window.addEventListener("message", (event) => {
    const node = (event.data as { node?: string }).node;
    const wanted = [...document.querySelectorAll("[data-box]")].find((each) => boxOf(each)?.name === node);
    if (wanted === undefined || wanted.classList.contains("on")) return;
    wanted.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
    wanted.scrollIntoView({ block: "center", inline: "center" });
  });
  host.postMessage({ ready: true });
}

/** Return a page with the script that connects it. Its own policy stays, and allows that one script more. */
export function connectPage(html: string, nonce: string): string {
  const policy = /script-src '/;
  if (!policy.test(html) || !html.includes("</body>")) throw new Error("the page of the drawing has another form");
  const script = `<script nonce="${nonce}">(${connect.toString()})(acquireVsCodeApi());</script>`;
  return html.replace(policy, () => `script-src 'nonce-${nonce}' '`).replace("</body>", () => `${script}</body>`);
}

/** Return where a node is written: its definition comes first. */
export function findSpot(nodes: readonly NodeSpot[], node: string): NodeSpot | undefined {
  return nodes.find((each) => each.node === node);
}

/** Return the node whose text holds a position; of several the one with the fewest lines. */
export function findNode(nodes: readonly NodeSpot[], uri: string, at: Position): string | undefined {
  const holding = nodes.filter((each) => each.uri === uri && holds(each, at));
  holding.sort((one, other) => lines(one) - lines(other));
  return holding[0]?.node;
}

function holds({ range: { start, end } }: NodeSpot, at: Position): boolean {
  const isAfter = at.line > start.line || (at.line === start.line && at.character >= start.character);
  const isBefore = at.line < end.line || (at.line === end.line && at.character <= end.character);
  return isAfter && isBefore;
}

function lines({ range: { start, end } }: NodeSpot): number {
  return end.line - start.line;
}
