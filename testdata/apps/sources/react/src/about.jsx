import { useEffect } from 'react'

export default function About() {
  useEffect(() => { document.title = 'About these pages' }, [])
  return (
    <article>
      <h1>About these pages</h1>
      <p>These pages were written to find out whether a crawler reads what a browser shows. The server sends the
        same few tags for each of them, and a program in the browser asks for a file with the words and puts them
        into the page. A reader without scripts sees nothing here, and a crawler that runs none finds one page.</p>
      <p>All that is said about the animals is common knowledge, and was written for this test.</p>
    </article>
  )
}
