// Gives each block of code a name, the focus of the keyboard, by which it scrolls, and a button that copies it.
for (const text of document.querySelectorAll("pre")) {
  const code = document.createElement("div"), button = document.createElement("button"), result = document.createElement("output");
  text.tabIndex = 0;
  text.role = "group";
  text.ariaLabel = text.dataset.label ?? text.previousElementSibling.textContent;
  code.className = "code";
  text.replaceWith(code);
  button.type = "button";
  button.textContent = "Copy";
  code.append(text, result, button);
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text.textContent);
      result.textContent = "copied";
    } catch {
      getSelection().selectAllChildren(text); // the browser does not allow the page to copy
      result.textContent = "selected: copy it by the keyboard";
    }
    setTimeout(() => { result.textContent = ""; }, 4000);
  });
}
