import { lazy, StrictMode, Suspense, useEffect, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { createBrowserRouter, Link, Outlet, RouterProvider, useParams } from 'react-router-dom'
import './main.css'

const About = lazy(() => import('./about.jsx'))

function useJSON(url) {
  const [data, setData] = useState(null)
  useEffect(() => {
    let on = true
    fetch(url).then((r) => r.json()).then((d) => on && setData(d))
    return () => { on = false }
  }, [url])
  return data
}

function Layout() {
  return (
    <>
      <nav><Link to="/">Home</Link> <Link to="/about">About</Link></nav>
      <main><Suspense fallback={<p>Loading</p>}><Outlet /></Suspense></main>
    </>
  )
}

function Home() {
  const all = useJSON('/api/all.json')
  useEffect(() => { document.title = 'Lizards of the world' }, [])
  if (!all) return <p>Loading</p>
  return (
    <>
      <h1>Lizards of the world</h1>
      <ul>{all.map((l) => <li key={l.id}><Link to={'/lizards/' + l.id}>{l.name}</Link>: {l.brief}</li>)}</ul>
    </>
  )
}

function Lizard() {
  const { id } = useParams()
  const lizard = useJSON('/api/' + id + '.json')
  useEffect(() => { if (lizard) document.title = lizard.name }, [lizard])
  if (!lizard) return <p>Loading</p>
  return <article><h1>{lizard.name}</h1>{lizard.text.map((p, i) => <p key={i}>{p}</p>)}</article>
}

const router = createBrowserRouter([
  { path: '/', element: <Layout />, children: [
    { index: true, element: <Home /> },
    { path: 'lizards/:id', element: <Lizard /> },
    { path: 'about', element: <About /> },
  ] },
])

createRoot(document.getElementById('root')).render(<StrictMode><RouterProvider router={router} /></StrictMode>)
