// Looks at a page as a reader does. An expression whose value has everything that is wrong with it.
(() => {
  const wrong = [];
  if (document.documentElement.scrollWidth > innerWidth) {
    wrong.push(`wider than the window: ${document.documentElement.scrollWidth} of ${innerWidth}`);
  }
  // what is seen of a text, by the boxes that it is cut off by
  const seen = (rect, element) => {
    let [left, top, right, bottom] = [rect.left, rect.top, rect.right, rect.bottom];
    for (let box = element; box && box !== document.body; box = box.parentElement) {
      const style = getComputedStyle(box);
      if (style.overflowX === "visible" && style.overflowY === "visible") continue;
      if (box.tagName === "svg") continue;
      const edge = box.getBoundingClientRect();
      left = Math.max(left, edge.left);
      top = Math.max(top, edge.top);
      right = Math.min(right, edge.right);
      bottom = Math.min(bottom, edge.bottom);
    }
    // boxes of letters are higher than lines where lines are narrow
    const above = (bottom - top) / 6;
    return { left, top: top + above, right, bottom: bottom - above };
  };
  const texts = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const [node, element] = [walker.currentNode, walker.currentNode.parentElement];
    if (!node.data.trim() || ["SCRIPT", "STYLE", "title"].includes(element.tagName)) continue;
    if (!element.checkVisibility({ contentVisibilityAuto: true, visibilityProperty: true })) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const drawing = element.closest("svg");
    for (const rect of range.getClientRects()) {
      const box = seen(rect, element);
      if (box.right - box.left < 1 || box.bottom - box.top < 1) continue;
      texts.push({ ...box, node, text: node.data.trim().slice(0, 60) });
      if (!drawing) continue;
      const edge = drawing.getBoundingClientRect();
      if (rect.left < edge.left - 1 || rect.right > edge.right + 1 || rect.top < edge.top - 1 || rect.bottom > edge.bottom + 1) {
        wrong.push(`cut off: ${node.data}`);
      }
    }
  }
  texts.sort((a, b) => a.top - b.top);
  texts.forEach((a, at) => {
    for (const b of texts.slice(at + 1)) {
      if (b.top >= a.bottom) break;
      const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (across > 2 && down > 2 && a.node !== b.node) wrong.push(`overlap: "${a.text}" and "${b.text}"`);
    }
  });
  for (const link of document.querySelectorAll("a[href^='#']")) {
    if (!document.getElementById(link.hash.slice(1))) wrong.push(`dead link: ${link.hash}`);
  }
  const links = [...document.querySelectorAll("a:not([href^='#'])")];
  return { wrong, texts: texts.length, links: links.map((link) => decodeURIComponent(new URL(link.href).pathname)) };
})()
