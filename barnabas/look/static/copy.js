// Gives each block of code a button that copies it. Without scripts the page has no such button.
for (const code of document.querySelectorAll(".code")) {
  const button = document.createElement("button"), result = document.createElement("output"), text = code.querySelector("pre");
  button.type = "button";
  button.textContent = "Copy";
  code.append(result, button);
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
