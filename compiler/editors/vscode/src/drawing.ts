// The panel with the drawing of one flow, which follows the text and is followed by it.
import { randomBytes } from "node:crypto";
import * as vscode from "vscode";
import { connectPage, findNode, findSpot, type Page } from "./page";

export type AskPage = (path: string, flow: string) => Promise<Page>;

const PATIENCE = 300; // milliseconds without another change, after which the drawing is made again

export class Drawing implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private page: Page | undefined;
  private subject: [path: string, flow: string] | undefined;
  private timer: NodeJS.Timeout | undefined;
  private readonly listeners: vscode.Disposable[];

  constructor(private readonly ask: AskPage) {
    this.listeners = [
      vscode.languages.onDidChangeDiagnostics(() => this.redrawSoon()),
      vscode.workspace.onDidChangeTextDocument(() => this.redrawSoon()),
      vscode.window.onDidChangeTextEditorSelection((event) => this.mark(event.textEditor)),
    ];
  }

  async show(path: string, flow: string): Promise<void> {
    this.subject = [path, flow];
    if (this.panel === undefined) {
      const panel = vscode.window.createWebviewPanel(
        "stagec.drawing",
        "stagec",
        { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
        { enableScripts: true, localResourceRoots: [] },
      );
      panel.onDidDispose(() => {
        this.panel = this.page = this.subject = undefined;
      });
      panel.webview.onDidReceiveMessage((told: { node?: string; ready?: boolean }) => this.receive(told));
      this.panel = panel;
    }
    this.panel.title = flow;
    await this.redraw();
  }

  private redrawSoon(): void {
    if (this.panel === undefined) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.redraw(), PATIENCE);
  }

  private async redraw(): Promise<void> {
    const { panel, subject } = this;
    if (panel === undefined || subject === undefined) return;
    let page: Page;
    try {
      page = await this.ask(...subject);
    } catch (error) {
      // a text that cannot be read just now keeps its last drawing
      if (this.page === undefined) void vscode.window.showWarningMessage(String(error instanceof Error ? error.message : error));
      return;
    }
    if (this.panel !== panel || this.subject !== subject) return;
    const isSame = page.html === this.page?.html;
    this.page = page;
    if (!isSame) panel.webview.html = connectPage(page.html, randomBytes(16).toString("hex"));
  }

  private receive(told: { node?: string; ready?: boolean }): void {
    if (told.ready) this.mark(vscode.window.activeTextEditor);
    if (told.node !== undefined) void this.reveal(told.node);
  }

  private async reveal(node: string): Promise<void> {
    const spot = findSpot(this.page?.nodes ?? [], node);
    if (spot === undefined) return;
    const { start, end } = spot.range;
    const selection = new vscode.Range(start.line, start.character, end.line, end.character);
    const document = await vscode.workspace.openTextDocument(vscode.Uri.parse(spot.uri));
    const shown = vscode.window.visibleTextEditors.find((each) => each.document === document);
    const editor = await vscode.window.showTextDocument(document, { viewColumn: shown?.viewColumn ?? vscode.ViewColumn.One, preserveFocus: true });
    editor.selection = new vscode.Selection(selection.start, selection.start);
    editor.revealRange(selection, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  }

  private mark(editor: vscode.TextEditor | undefined): void {
    if (this.panel === undefined || editor === undefined || this.page === undefined) return;
    const node = findNode(this.page.nodes, editor.document.uri.toString(), editor.selection.active);
    if (node !== undefined) void this.panel.webview.postMessage({ node });
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.panel?.dispose();
    for (const each of this.listeners) each.dispose();
  }
}
